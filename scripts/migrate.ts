/**
 * `npm run migrate -- SERVICE [--prepare]`: migrates the database of a service to the version of
 * the code; with `--prepare` no rows are rewritten.
 */
const services = ["gateway", "documents", "phrases", "signing", "delivery"];
const [service = ""] = process.argv.splice(2, 1);

if (services.includes(service)) {
  await import(`../services/${service}/src/migrate.ts`);
} else {
  console.error(`npm run migrate -- SERVICE [--prepare], where SERVICE is one of: ${services.join(", ")}`);
  process.exitCode = 1;
}
