// Before the first paint, so that a remembered theme does not flash.
try {
  const theme = localStorage.getItem("caselens-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {}
