/** The service cannot start. The message is one line for the operator. */
export class StartRefused extends Error {
  override name = 'StartRefused';
}
