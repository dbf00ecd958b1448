"""Debian's Chromium without a window, as a person at the desk would use it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

DEADLINE_S = 30
ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1280,900",
)


@contextmanager
def chromium(profile: Path, *, scripts: bool = True) -> Iterator[WebDriver]:
    """A browser with a profile of its own; with `scripts=False` it runs no JavaScript of any page."""
    options = Options()
    options.binary_location = shutil.which("chromium") or ""
    for argument in (*ARGUMENTS, f"--user-data-dir={profile}"):
        options.add_argument(argument)
    if not scripts:
        content = {"profile.managed_default_content_settings.javascript": 2}
        options.add_experimental_option("prefs", content)
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        yield driver
    finally:
        driver.quit()


def find(driver: WebDriver, css: str) -> WebElement:
    """The first element that a selector names. Raises NoSuchElementException."""
    return driver.find_element(By.CSS_SELECTOR, css)


def texts(driver: WebDriver, css: str) -> list[str]:
    """The visible text of every element that a selector names."""
    return [element.text for element in driver.find_elements(By.CSS_SELECTOR, css)]


def wait_for_text(driver: WebDriver, css: str, text: str) -> None:
    """Return when an element of this selector shows the text. Raises TimeoutException."""
    script = "return [...document.querySelectorAll(arguments[0])].some((one) => one.innerText.includes(arguments[1]))"
    WebDriverWait(driver, DEADLINE_S).until(lambda one: bool(one.execute_script(script, css, text)))


def sign_in(driver: WebDriver, url: str, token: str) -> None:
    """Through the form, as a person does."""
    driver.get(f"{url}/sign-in")
    find(driver, "#token").send_keys(token)
    submit(driver, find(driver, "main form button"))


def submit(driver: WebDriver, button: WebElement) -> None:
    """Press a button and wait until the next page has taken this one's place."""
    page = find(driver, "html")
    button.click()
    WebDriverWait(driver, DEADLINE_S).until(lambda one: find(one, "html").id != page.id)
    WebDriverWait(driver, DEADLINE_S).until(lambda one: one.execute_script("return document.readyState") == "complete")
