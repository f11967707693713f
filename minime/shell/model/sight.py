"""Whether a model takes images, asked of its server."""

from minime.core.model.sight import read_sight, sight_page
from minime.core.model.windows import Page, recognised
from minime.shell.model.model import Model

WITHIN = 1.0
"""Seconds that the server has to tell; what it has not told by then is tried."""


async def sees(model: Model, name: str) -> bool | None:
    """Whether the model `name` takes images; None where its server does not tell. Raises nothing."""
    server = model.server
    if server.kind == "embedded":
        return False
    if sight_page(server, name) is None:
        models = Page("models", f"{server.base_url}/models")
        listed = await model.page(models.url, within=WITHIN)
        server = recognised(server, models, listed) if isinstance(listed, bytes) else server
    page = sight_page(server, name)
    if page is None:
        return None
    body = await model.page(page.url, page.body, within=WITHIN)
    return read_sight(name, page, body) if isinstance(body, bytes) else None
