import type { TypeSchemas } from "../json-schema-type.ts";
import { complete, flag, language, list, object, shape, slug, someText, text } from "./shapes.ts";

const anyObject = { type: "object" };
const navigation = list(object({ label: text, url: text }));

/** `core/publisher-site`: the configuration of one site. */
export const publisherSite: TypeSchemas = {
  shape: shape(
    { slug, hosts: list(someText), language, timezone: text, primary: flag },
    {
      name: text,
      description: text,
      branding: anyObject,
      theme: object({ name: text, options: anyObject }),
      navigation: object({ primary: navigation, secondary: navigation }),
      sections: list(object({ slug: text, title: text, tagId: text })),
      seo: object({ title: text, description: text, ogImage: text }),
      social: anyObject,
      settings: anyObject,
    },
  ),
  complete: complete({ meta: object({ hosts: list(someText, 1) }, ["slug", "hosts", "language"]) }),
};
