// The vendors' packages, each in a directory of its own.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/// Returns the directory. No script of a package is run. Throws what npm says.
export function install(vendor, below) {
  const place = join(below, vendor.agent);
  const manifest = join(place, "node_modules", vendor.package, "package.json");
  if (existsSync(manifest) && JSON.parse(readFileSync(manifest)).version === vendor.version) return place;
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, "package.json"), '{"private": true}\n');
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--no-save", "--ignore-scripts", "--loglevel=error",
                       ...vendor.npm, `${vendor.package}@${vendor.version}`],
               { cwd: place, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  return place;
}

/// A module of a package by its file: the front door of some needs a newer Node than the module.
export function importFile(place, name, file) {
  return import(pathToFileURL(join(place, "node_modules", name, file)).href);
}
