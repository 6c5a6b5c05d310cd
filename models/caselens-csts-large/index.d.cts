/** A file of the model. */
export interface ModelFile {
  /** Where it lies. */
  readonly url: URL;
  /** Its size in bytes. */
  readonly bytes: number;
  /** Its SHA-256, in hexadecimal digits. */
  readonly sha256: string;
}

/** The model, for `CaseLens.load({ model })` of the package `caselens`. */
declare const model: {
  /** The name of the model. */
  readonly name: "caselens-csts-large";
  /** How the weights are stored. */
  readonly dtype: "q4_0";
  /** The encoder. */
  readonly model: ModelFile;
  /** Its head: how embeddings are made of it. */
  readonly head: ModelFile;
};
export default model;
