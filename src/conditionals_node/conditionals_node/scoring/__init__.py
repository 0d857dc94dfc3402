"""Labelled situations, and the agreement of judges with them. Pure."""

from .judges import Judge, load_judge, original_judge, own_judge
from .score import Answer, Disagreement, Scored, score_judges
from .situations import CATEGORIES, Question, Situation, load_situations

__all__ = [
    "CATEGORIES",
    "Answer",
    "Disagreement",
    "Judge",
    "Question",
    "Scored",
    "Situation",
    "load_judge",
    "load_situations",
    "original_judge",
    "own_judge",
    "score_judges",
]
