// A button that opens a file.

export const FileButton = ({ children, onFile }: { readonly children: string; readonly onFile: (file: File) => void }) => (
  <label class="button file">
    <input
      type="file"
      class="hidden"
      onChange={(event) => {
        const file = event.currentTarget.files?.[0];
        if (file) onFile(file);
        // The same file may be opened again.
        event.currentTarget.value = "";
      }}
    />
    {children}
  </label>
);
