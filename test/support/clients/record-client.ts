/** A method of a published client, with the requests that it sends: `POST /emails`. None: it works without the server. */
export interface ClientMethod {
  name: string;
  requests: readonly string[];
}

/** Names that lead from a resource back to its client, and what a client keeps of its options. */
const NOT_RESOURCES = new Set(['resend', 'client', 'headers', 'options', 'logger']);

/** Returns the names of the public methods of a client and its resources, as they are there when it runs: `emails.attachments.list`. */
export function listMethods(client: object, place = ''): string[] {
  const names = new Set(Object.keys(client));
  for (
    let prototype: unknown = Object.getPrototypeOf(client);
    prototype !== null && prototype !== Object.prototype;
    prototype = Object.getPrototypeOf(prototype)
  )
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype)))
      if (typeof value === 'function' && name !== 'constructor') names.add(name);
  return [...names].flatMap((name) => {
    if (name.startsWith('_') || NOT_RESOURCES.has(name)) return [];
    const value: unknown = Reflect.get(client, name);
    const method = place === '' ? name : `${place}.${name}`;
    if (typeof value === 'function') return [method];
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? listMethods(value, method) : [];
  });
}

/**
 * Calls every method of a client with arguments that stand for anything, and returns the requests that each method sends. Nothing leaves
 * this process: `fetch` responds with an empty object meanwhile. Throws when a method that is not in `local` sends nothing.
 */
export async function recordClient(
  client: object,
  base: string,
  methods: readonly string[],
  local: ReadonlySet<string>,
): Promise<ClientMethod[]> {
  const sent: string[] = [];
  const { fetch, console } = globalThis;
  const record = async (target: string | URL | Request, init: RequestInit = {}) => {
    const url = target instanceof Request ? target.url : String(target);
    const path = url.startsWith(base) ? url.slice(base.length).replace(/\?.*$/s, '') : null;
    if (path !== null) sent.push(`${(init.method ?? 'GET').toUpperCase()} ${path}`);
    return Response.json({});
  };
  Object.assign(globalThis, { fetch: record, console: Object.create(console, { warn: { value: () => undefined } }) });
  try {
    const recorded: ClientMethod[] = [];
    for (const name of methods) {
      sent.length = 0;
      if (!local.has(name)) await callMethod(client, name, sent);
      if (sent.length === 0 && !local.has(name)) throw new Error(`${name} sent no request.`);
      recorded.push({ name, requests: [...new Set(sent)] });
    }
    return recorded;
  } finally {
    Object.assign(globalThis, { fetch, console });
  }
}

/** Calls a method with each kind of argument until it sends a request. */
async function callMethod(client: object, name: string, sent: readonly string[]): Promise<void> {
  const path = name.split('.');
  const holder = path.slice(0, -1).reduce<object>((value, key) => Reflect.get(value, key), client);
  const method: unknown = Reflect.get(holder, path.at(-1) ?? '');
  if (typeof method !== 'function') throw new Error(`${name} is no method.`);
  for (const other of [undefined, []])
    try {
      await Reflect.apply(method, holder, [argument(other), argument(other), argument(other)]);
      if (sent.length > 0) return;
    } catch {
      // The empty response has none of the fields that the method may read after its request.
      if (sent.length > 0) return;
    }
  await Promise.resolve(Reflect.apply(method, holder, [])).catch(() => undefined);
}

/** Returns a value that is an ID where a text is needed, an empty list, and an object with every ID; its other fields are `other`. */
function argument(other: unknown): object {
  return new Proxy(Object.create(null), {
    get: (_target, key) => {
      if (key === Symbol.toPrimitive || key === 'toString') return () => 'x';
      if (key === Symbol.iterator) return function* () {};
      if (key === 'map') return () => [];
      return typeof key === 'string' && /(?:^id|Id|^email|^from)$/.test(key) ? 'x' : other;
    },
  });
}
