// The wasm module as wasm-bindgen made it must be what the sources take it for.

import type * as Built from "../build/wasm/caselens.js";
import type * as Declared from "../src/wasm/caselens.js";

declare const built: Built.Engine;
declare const load: typeof Built.Engine.load;
declare const start: typeof Built.default;

export const instance: Omit<Declared.Engine, never> = built;
type LoadArguments = [model: Built.ModelFile, head: Parameters<typeof Declared.Engine.load>[1], device: Built.EngineDevice];
export const loads: (...args: LoadArguments) => Promise<Omit<Declared.Engine, never>> = load;
export const starts: typeof Declared.default = start;

declare const file: Built.ModelFile;
export const arrives: Declared.ModelFile = file;
export const begins: new (size?: number) => Declared.ModelFile = null as unknown as typeof Built.ModelFile;

declare const device: Built.EngineDevice;
export const runs: Omit<Declared.EngineDevice, never> = device;
export const isOpened: (...args: Parameters<typeof Declared.EngineDevice.open>) => Promise<Built.EngineDevice> = null as unknown as typeof Built.EngineDevice.open;
export const isCpu: (...args: Parameters<typeof Declared.EngineDevice.cpu>) => Built.EngineDevice = null as unknown as typeof Built.EngineDevice.cpu;

declare const gallery: Built.Gallery;
export const shows: Declared.Gallery = gallery;
export const opens: new (manifest: string) => Declared.Gallery = null as unknown as typeof Built.Gallery;
