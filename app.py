"""The server: `streamlit run app.py` or `python app.py`. Pages are in pages/, the HTTP layer around them in
web/."""

from pathlib import Path

import streamlit as st

from web import problems, server
from web.lifespan import lifespan

settings = server.settings_or_exit()
server.follow(settings)
app = st.App(
    Path(__file__).with_name("pages") / "main.py",
    routes=server.ROUTES,
    middleware=server.middleware(settings),
    lifespan=lifespan,
    on_script_error=problems.say,
)

if __name__ == "__main__":
    server.run(app, settings)
