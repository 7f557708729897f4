/** The definition of the share of sent mail that was delivered, wherever it is shown. */
export const SENDING_RATE =
  'Share of finished emails that were delivered: delivered, of those that were delivered, bounced or failed. Queued and deferred emails are not finished.';
