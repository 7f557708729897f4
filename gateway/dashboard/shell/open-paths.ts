/**
 * Paths of pages that need no session, or ask for it themselves: what such a page would ask for as it loads may be of another session than the one
 * that it begins.
 */
export const OPEN_PATHS = /^\/(?:sign-in|sign-up|invitation|oauth|forgot-password|reset-password)(?:\/|$)/i;

/** Path and parameters of an inbox without conditions, with or without an open conversation. */
export const PLAIN_INBOX = /^\/inbox(?:\/[^?]*)?$/;
