import { Comparison } from "./comparison";

export default function Page() {
  return (
    <main>
      <h1>caselens with Next.js</h1>
      <Comparison sentence1="She plays chess in the park" sentence2="He plays football in the park" />
    </main>
  );
}
