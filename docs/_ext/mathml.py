"""Formulas as MathML, which browsers render without scripts, fonts or network access.

docutils translates TeX; Sphinx has no MathML renderer, so this extension registers one.
"""

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util.logging import getLogger
from sphinx.util.math import get_node_equation_number


def translated(node, as_block):
    """Translate the formula; warn with page and line if that fails."""
    try:
        return tex2mathml(node.astext(), as_block=as_block)
    except MathError as error:
        getLogger(__name__).warning("%s in %r", error, node.astext(), location=node)
        return ""


def inline(self, node):
    """Render an inline formula."""
    self.body.append(translated(node, as_block=False))
    raise nodes.SkipNode


def block(self, node):
    """Render a displayed formula, with its number if it has one."""
    self.body.append(self.starttag(node, "div", CLASS="formula"))
    self.body.append(translated(node, as_block=True))
    if node["number"]:
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})')
        self.add_permalink_ref(node, "Link to this formula")
        self.body.append("</span>")
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app):
    """Take the place of MathJax, which would be fetched by every reader."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
