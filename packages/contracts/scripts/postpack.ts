/** Restores the `package.json` that `prepack` replaced. */
import { putBack } from "./manifest.ts";

putBack();
