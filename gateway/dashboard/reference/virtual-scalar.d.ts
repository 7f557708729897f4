declare module 'virtual:scalar' {
  /** URL of the standalone script of @scalar/api-reference */
  const url: string;
  export default url;
}
