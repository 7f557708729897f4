/**
 * Returns the ID of the event `email.received` of an email. It is made of the email's, so that all payloads that post the email have it:
 * of every attempt, retry, replay and pulled request, also when the feed no longer has the event.
 */
export function receivedEventId(emailId: string): string {
  return emailId.replace(/^em_/, 'evt_');
}
