/** Version of this SDK; package.json says the same. */
export const VERSION = "0.1.0";
