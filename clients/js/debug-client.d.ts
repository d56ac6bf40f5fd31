// Holdpoint's client for JavaScript: function calls of a page or a Node program, recorded, paused and changed.

export type Mode = "ON" | "OFF" | "VERBOSE" | "on" | "off" | "verbose";

/** A function that answers by a promise, because the server may pause the call. */
type Promised<F> = F extends (...args: infer A) => infer R ? (...args: A) => Promise<Awaited<R>> : F;

/** What `withDebug` gives back for `T`: its functions return promises, everything else is itself. */
export type Debugged<T> = T extends (...args: never[]) => unknown
  ? Promised<T>
  : { [K in keyof T]: T[K] extends (...args: never[]) => unknown ? Promised<T[K]> : T[K] };

/** Switches everything. Without a server the app runs on, and that is said once. */
export function withDebug(mode: Mode): undefined;
/** Wraps an object or a function under a name; switched off, it is itself. */
export function withDebug<T extends object>(named: [alias: string, thing: T]): Debugged<T>;
export function withDebug<T extends object>(thing: T): Debugged<T>;

export function withDebugSync(mode: Mode): undefined;
/** The same for code that cannot wait: a call that is paused blocks its thread. */
export function withDebugSync<T extends object>(named: [alias: string, thing: T]): T;
export function withDebugSync<T extends object>(thing: T): T;

/** One call, without a wrapper. */
export function debugCall<A extends unknown[], R>(fn: (...args: A) => R, ...args: A): Promise<Awaited<R>>;
export function debugCall<A extends unknown[], R>(name: string, fn: (...args: A) => R, ...args: A): Promise<Awaited<R>>;

export function debugCallSync<A extends unknown[], R>(fn: (...args: A) => R, ...args: A): R;
export function debugCallSync<A extends unknown[], R>(name: string, fn: (...args: A) => R, ...args: A): R;

/** Another server, another token, or both. */
export function configure(options?: { serverUrl?: string; token?: string | null }): void;

/** Lets a paused call run this function instead. */
export function registerReplacement(name: string, fn: (...args: never[]) => unknown): void;

/** Waits until every record is with the server and every callpoint is known here; false when that did not succeed in
 * time (3 s unless said). */
export function flush(options?: { timeoutMs?: number }): Promise<boolean>;

export interface Client {
  withDebug: typeof withDebug;
  withDebugSync: typeof withDebugSync;
  debugCall: typeof debugCall;
  debugCallSync: typeof debugCallSync;
  configure: typeof configure;
  registerReplacement: typeof registerReplacement;
  flush: typeof flush;
}

declare const client: Client;
export { client as default, client as cideldill, client as holdpoint };
