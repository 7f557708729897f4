import { useEffect, useState } from 'react';
import { type AuthSettings, auth } from './auth-calls.ts';

/** What is possible before sign-in; null while loading. */
export function useAuthSettings(): AuthSettings | null {
  const [settings, setSettings] = useState<AuthSettings | null>(null);
  useEffect(() => {
    let isGone = false;
    void auth.settings().then(({ answer }) => {
      if (!isGone) setSettings(answer);
    });
    return () => {
      isGone = true;
    };
  }, []);
  return settings;
}
