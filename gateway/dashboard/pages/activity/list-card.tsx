import type { ReactNode } from 'react';
import styles from './email-list.module.css';

/** A row with several lines and its own actions in a list of emails. */
export function ListCard({ id, children }: { id: string; children: ReactNode }) {
  return (
    <li className={styles['card']} data-email={id}>
      {children}
    </li>
  );
}
