/** Sets `package.json` back to what it was before `prepack`. */
import { putBack } from "./manifest.ts";

putBack();
