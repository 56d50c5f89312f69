"""Filters of the templates that show payloads."""

from __future__ import annotations

from django import template

from dashboard import trees
from monitor.reports.payloads import Node

register = template.Library()


@register.filter
def tree_steps(root: Node, name: str) -> list[trees.Step]:
    """The steps of a payload's tree; name begins the ids of its nodes."""
    return trees.steps(root, f"{name}-node")
