"""Hostile inputs: what they are made of, and strategies that draw them."""
