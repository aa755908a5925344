from .litellm_callback import JudgeLogger as JudgeLogger
from .mlflow_model import as_row as as_row
from .mlflow_model import judge_scorer as judge_scorer
from .mlflow_model import log_judge as log_judge
from .openai_client import Judged as Judged
from .openai_client import JudgedClient as JudgedClient
from .telemetry import emit_verdict as emit_verdict
