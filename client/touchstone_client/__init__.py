"""A client of a Touchstone server: questions and responses in, ground truth, scores, reports and experiments out."""

from touchstone_client.asking import Answer, Asked, Progress, Question
from touchstone_client.project import Client, Project
from touchstone_client.server import Refused, Unreachable

__all__ = ["Answer", "Asked", "Client", "Progress", "Project", "Question", "Refused", "Unreachable"]
