// What has to be known before the first paint: the theme that was chosen, so that it does not flash, and the language, whose words are
// asked for along with the page's modules. The build writes which languages there are, and their files, beside this script's address.
{
  const script = document.currentScript;
  const files = JSON.parse(script.dataset.languages);
  const remembered = (key) => {
    try {
      return localStorage.getItem(key);
    } catch {
      return null;
    }
  };

  const theme = remembered("caselens-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;

  const wanted = [remembered("caselens-language"), ...navigator.languages].map((tag) => (tag ?? "").toLowerCase().split("-")[0]);
  const language = wanted.find((name) => Object.hasOwn(files, name)) ?? "en";
  document.documentElement.lang = language;
  if (files[language]) {
    const link = document.createElement("link");
    link.rel = "modulepreload";
    link.href = files[language];
    document.head.append(link);
  }
}
