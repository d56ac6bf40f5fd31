// The hooks of ES modules with tracepoints in them, on a thread of their own, for Node before 22.15.
import { createRequire } from 'node:module';

const { fileOf } = createRequire(import.meta.url)('./loaders.cjs');
let files = {};

export function initialize(given) {
  files = given;
}

export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context);
  const { format, source } = loaded;
  const file = fileOf(url);
  if (format !== 'module' || source === null || source === undefined || file === null || !Object.hasOwn(files, file)) return loaded;
  const text = typeof source === 'string' ? source : Buffer.from(source).toString('utf8');
  return text === files[file].source ? { ...loaded, source: files[file].made } : loaded;
}
