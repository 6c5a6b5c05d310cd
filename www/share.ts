// The addresses of the card that shows where a link to the page is shared. They have to be whole ones, which a site that works under
// any path does not know: SITE_URL, where it is set when the page is built, says where it will be.

import type { Plugin } from "vite";

/** A tag of the page's head. */
const link = (rel: string, href: string) => ({ tag: "link", attrs: { rel, href }, injectTo: "head" as const });

export const share = (site = process.env["SITE_URL"]): Plugin => ({
  name: "caselens-share",
  transformIndexHtml: {
    order: "post",
    handler(html, { path }) {
      if (!site || !path.endsWith("index.html")) return html;
      const home = new URL(site.endsWith("/") ? site : `${site}/`).href;
      return {
        html: html.replace('content="./share.png"', `content="${home}share.png"`),
        tags: [link("canonical", home), { tag: "meta", attrs: { property: "og:url", content: home }, injectTo: "head" }],
      };
    },
  },
});
