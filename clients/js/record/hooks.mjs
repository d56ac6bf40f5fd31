// The hooks of ES modules on a thread of their own, for Node before 22.15.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const texts = require('./texts.cjs');
const { fileOf } = require('./loaders.cjs');

export function initialize({ config, shared, port }) {
  texts.setup({ ...config, exclude: new Set(config.exclude) }, null);
  texts.state.shared = shared;
  texts.state.onRegister = (made) => port.postMessage(made);
}

export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context);
  const { format, source } = loaded;
  if (source === null || source === undefined || format !== 'module') return loaded;
  const file = fileOf(url);
  if (file === null || !texts.wanted(file)) return loaded;
  try {
    const made = texts.text(typeof source === 'string' ? source : Buffer.from(source).toString('utf8'), file, 'module', false);
    return made === null ? loaded : { ...loaded, source: made };
  } catch {
    return loaded;
  }
}
