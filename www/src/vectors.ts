// What the page itself reckons with embeddings.

type Numbers = ArrayLike<number>;

export function dot(a: Numbers, b: Numbers): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}

/** 0 where one of them has no length. */
export const cosine = (a: Numbers, b: Numbers): number => dot(a, b) / (Math.sqrt(dot(a, a) * dot(b, b)) || 1);
