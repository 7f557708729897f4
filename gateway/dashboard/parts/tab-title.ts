let page = '';
let unread = 0;

/** Sets the name of the page in the tab's title. */
export function setPageTitle(title: string): void {
  page = title;
  write();
}

/** Sets the number of unread conversations, which the tab's title begins with. */
export function setUnreadCount(count: number): void {
  unread = count;
  write();
}

function write(): void {
  if (page !== '') document.title = `${unread > 0 ? `(${unread}) ` : ''}${page} · Postroom`;
}
