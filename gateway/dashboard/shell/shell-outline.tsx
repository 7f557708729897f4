import { Skeleton, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { readStored, writeStored } from '../parts/browser-storage.ts';
import { Icon } from '../parts/icons.ts';
import style from './frame.module.css';
import { places } from './places.ts';

const SIGNED_IN = 'postroom-signed-in';

/** Returns whether someone was signed in when this browser last showed the dashboard. Others see the sign-in page soon. */
export function wasSignedIn(): boolean {
  return readStored(SIGNED_IN) === 'yes';
}

/** Remembers in this browser whether someone is signed in. */
export function rememberSignIn(isSignedIn: boolean): void {
  writeStored(SIGNED_IN, isSignedIn ? 'yes' : 'no');
}

/** The outline of the frame, until the session is known, or with what is said instead of the page. */
export function ShellOutline({ children }: { children?: ReactNode }) {
  const isLoading = children === undefined;
  return (
    <div
      className={style['frame']}
      aria-busy={isLoading}
      role={isLoading ? 'status' : undefined}
      aria-label={isLoading ? 'Loading' : undefined}
    >
      <div className={style['bar']} />
      <div className={style['side']} aria-hidden>
        <div className={style['top']}>
          <img src="/postroom.svg" alt="" width={22} height={22} />
          <span className={style['name']}>Postroom</span>
        </div>
        {places.map(({ heading, places: entries }) => (
          <div key={heading ?? ''}>
            {heading !== null && <div className={style['heading']}>{heading}</div>}
            {entries.map(({ path, label, icon }) => (
              <div key={path} className={style['place']}>
                <Icon name={icon} size={17} stroke={1.7} />
                <span className={style['label']}>{label}</span>
              </div>
            ))}
          </div>
        ))}
      </div>
      <main className={style['main']}>
        <Stack>
          {children ?? (
            <>
              <Skeleton h={32} maw={240} />
              <Skeleton h={40} />
              <Skeleton h={40} />
              <Skeleton h={40} />
            </>
          )}
        </Stack>
      </main>
    </div>
  );
}
