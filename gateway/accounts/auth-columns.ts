/** The columns of db/entities/accounts.ts under the names that better-auth has for them; those of one word are not named. */
export const authColumns = {
  user: { emailVerified: 'email_verified', createdAt: 'created_at', updatedAt: 'updated_at' },
  session: {
    userId: 'user_id',
    expiresAt: 'expires_at',
    createdAt: 'created_at',
    updatedAt: 'updated_at',
    ipAddress: 'ip_address',
    userAgent: 'user_agent',
  },
  account: {
    userId: 'user_id',
    accountId: 'account_id',
    providerId: 'provider_id',
    accessToken: 'access_token',
    refreshToken: 'refresh_token',
    idToken: 'id_token',
    accessTokenExpiresAt: 'access_token_expires_at',
    refreshTokenExpiresAt: 'refresh_token_expires_at',
    createdAt: 'created_at',
    updatedAt: 'updated_at',
  },
  verification: { expiresAt: 'expires_at', createdAt: 'created_at', updatedAt: 'updated_at' },
  passkey: {
    publicKey: 'public_key',
    userId: 'user_id',
    credentialID: 'credential_id',
    deviceType: 'device_type',
    backedUp: 'backed_up',
    createdAt: 'created_at',
  },
} as const;

/** The tables, with their columns. */
export const authTables = {
  user: { modelName: 'user_account', fields: authColumns.user },
  session: { modelName: 'auth_session', fields: authColumns.session },
  account: { modelName: 'auth_credential', fields: authColumns.account },
  verification: { modelName: 'auth_verification', fields: authColumns.verification },
  passkey: { modelName: 'auth_passkey', fields: authColumns.passkey },
} as const;
