import { useLive } from '../live/live-context.tsx';
import { showNotice } from '../parts/notice.tsx';
import { useViewer } from './viewer.ts';

/** Shows a notice when a note mentions the signed-in person. */
export function MentionNotices() {
  const { person } = useViewer();
  useLive(['THREAD_NOTE_ADDED', 'THREAD_NOTE_EDITED'], (event) => {
    const { by, mentions } = (event?.data ?? {}) as { by?: string; mentions?: string[] };
    if (person === null || event?.threadId == null || mentions?.includes(person.id) !== true || by === person.name)
      return;
    showNotice(`${by ?? 'A member'} mentioned you in a note`, {
      link: { label: 'Open conversation', path: `/inbox/${event.threadId}` },
    });
  });
  return null;
}
