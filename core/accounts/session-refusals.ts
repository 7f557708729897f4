/*
 * Codes of errors that say why a session may not do something now, although it exists. The dashboard goes on where each leads.
 */

/** A person has to confirm the sign-in, or sign in again. */
export const SIGN_IN_AGAIN = 'SIGN_IN_AGAIN';
/** The workspace requires a second factor that the session has not shown. */
export const SECOND_FACTOR_REQUIRED = 'SECOND_FACTOR_REQUIRED';
/** The request names another workspace than that of the session: another tab has switched it since the page was loaded. */
export const OTHER_WORKSPACE = 'OTHER_WORKSPACE';

/** Name of the header by which a page says which workspace it shows, so that nothing of it gets into another one. */
export const WORKSPACE_HEADER = 'postroom-workspace';
