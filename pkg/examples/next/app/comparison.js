"use client";

import { CaseLens } from "caselens"; // rendered on the server too, where importing it does nothing
import { useEffect, useState } from "react";

export function Comparison({ sentence1, sentence2 }) {
  const [text, setText] = useState("Loading …");
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    CaseLens.load({ model: "/models/caselens-csts-q4_0.gguf", signal })
      .then(async (lens) => {
        signal.addEventListener("abort", () => lens.dispose());
        const results = await lens.compare(sentence1, sentence2, ["the place", "the game"], { signal });
        setText(results.map(({ condition, rating }) => `${condition}: ${rating.toFixed(1)} of 5`).join("\n"));
      })
      .catch((error) => error.name !== "AbortError" && setText(error.message));
    return () => leaving.abort();
  }, [sentence1, sentence2]);
  return (
    <pre>
      <output>{text}</output>
    </pre>
  );
}
