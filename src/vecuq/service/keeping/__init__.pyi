from .keeper import local_recorder as local_recorder
