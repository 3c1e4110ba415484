"""Traces: the steps of the sessions in a recording, rendered as text, as an SVG drawing or as an HTML page."""

from .html import render_html
from .svg import render_svg
from .text import render_text
from .trace import Trace

__all__ = ["Trace", "render_html", "render_svg", "render_text"]
