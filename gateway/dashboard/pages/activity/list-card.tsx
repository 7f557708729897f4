import type { ReactNode } from 'react';
import styles from './email-list.module.css';

/** A row of a list of emails that says more than one line, and has actions of its own. */
export function ListCard({ id, children }: { id: string; children: ReactNode }) {
  return (
    <li className={styles['card']} data-email={id}>
      {children}
    </li>
  );
}
