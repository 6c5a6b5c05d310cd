// The mark of what can be written in.

export const Pencil = () => (
  <svg class="icon pencil" viewBox="0 0 20 20" aria-hidden="true">
    <path d="M4 16l1-4 8.5-8.5a1.4 1.4 0 0 1 2 0l1 1a1.4 1.4 0 0 1 0 2L8 15z" />
  </svg>
);
