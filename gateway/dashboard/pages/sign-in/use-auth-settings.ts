import { useEffect, useState } from 'react';
import { auth } from './auth-calls.ts';

/** What is possible before sign-in; null while loading. */
export function useAuthSettings(): { signUp: boolean; passkeyHost: string } | null {
  const [settings, setSettings] = useState<{ signUp: boolean; passkeyHost: string } | null>(null);
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
