// Which languages the page speaks: a file of src/strings/ for each.

import { readdirSync } from "node:fs";
import path from "node:path";
import type { IndexHtmlTransformContext, Plugin } from "vite";

type Bundle = NonNullable<IndexHtmlTransformContext["bundle"]>;

const FOLDER = "src/strings";

/** The language of a file of words, as BCP 47 names it; undefined for any other file. */
const languageOf = (file: string): string | undefined => new RegExp(`${FOLDER}/([a-z]+)\\.ts$`).exec(file)?.[1];

/** A chunk and all that it imports. */
function withImports(bundle: Bundle, name: string, found = new Set<string>()): ReadonlySet<string> {
  const part = bundle[name];
  if (found.has(name) || part?.type !== "chunk") return found;
  found.add(name);
  for (const each of part.imports) withImports(bundle, each, found);
  return found;
}

/**
 * Defines `__LANGUAGES__`, their names, and gives public/before.js the address of each one's words: it chooses before anything is drawn,
 * and asks for the one file that is needed along with the page's own modules, not after them. What a page waits for words with, its page.tsx, is
 * asked for as early.
 */
export const languages = (): Plugin => {
  let names: readonly string[] = [];
  return {
    name: "caselens-languages",
    config: ({ root = "." }) => {
      names = readdirSync(path.resolve(root, FOLDER)).flatMap((file) => languageOf(`${FOLDER}/${file}`) ?? []).sort();
      return { define: { __LANGUAGES__: JSON.stringify(names) } };
    },
    transformIndexHtml: {
      order: "post",
      handler(html, { bundle = {}, chunk }) {
        const files = new Map(names.map((name) => [name, ""]));
        for (const part of Object.values(bundle)) {
          const language = part.type === "chunk" && part.facadeModuleId ? languageOf(part.facadeModuleId) : undefined;
          if (language) files.set(language, `./${part.fileName}`);
        }
        const list = JSON.stringify(Object.fromEntries(files)).replaceAll('"', "&quot;");
        const isPage = (part = bundle[""]) => part?.type === "chunk" && part.moduleIds.some((id) => id.endsWith("/page.tsx"));
        const later = chunk?.dynamicImports.filter((name) => isPage(bundle[name])) ?? [];
        const tags = [...new Set(later.flatMap((name) => [...withImports(bundle, name)]))]
          .filter((name) => !html.includes(name))
          .map((name) => ({ tag: "link", attrs: { rel: "modulepreload", crossorigin: true, href: `./${name}` }, injectTo: "head" as const }));
        return { html: html.replace(/(<script src="[^"]*before\.js")/, `$1 data-languages="${list}"`), tags };
      },
    },
  };
};
