/** Folders of the inbox that a saved view can have. */
export const VIEW_FOLDERS = ['inbox', 'unread', 'snoozed', 'sent', 'archived', 'trash'] as const;

export type ViewFolder = (typeof VIEW_FOLDERS)[number];
