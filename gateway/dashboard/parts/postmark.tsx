import { Icon, type IconName } from './icons.ts';
import style from './postmark.module.css';

/** A round postmark: two rings around an icon. A failure is red, and its outer ring is broken. */
export function Postmark({ icon, isFailure = false }: { icon: IconName; isFailure?: boolean }) {
  return (
    <span className={style['mark']} data-failure={isFailure || undefined} aria-hidden>
      <svg viewBox="0 0 36 36" width={36} height={36}>
        <circle cx={18} cy={18} r={16.5} strokeWidth={1.6} strokeDasharray={isFailure ? '7 3' : undefined} />
        <circle cx={18} cy={18} r={13.2} strokeWidth={0.8} />
      </svg>
      <Icon name={icon} size={15} stroke={1.8} />
    </span>
  );
}
