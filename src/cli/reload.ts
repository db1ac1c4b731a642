/** reloadConfiguration: SIGHUP, with what it did in the log. */
import type { ConfigKeys } from "../config/config_key.ts";
import type { LoadedConfig } from "../config/config_loader.ts";
import type { Configuration } from "../config/configuration.ts";
import type { Logger } from "../io/logger.ts";

/** Loads again and takes what may change live; a file that is wrong changes nothing. */
export function reloadConfiguration<K extends ConfigKeys>(
  configuration: Configuration<K>,
  load: () => LoadedConfig<K>,
  parent: Logger,
): void {
  const logger = parent.child("config");
  try {
    const loaded = load();
    for (const warning of loaded.warnings) logger.warn(warning);
    const { changed, afterRestart } = configuration.reload(loaded);
    logger.info("The configuration was read again", { changed });
    for (const key of afterRestart) {
      logger.warn(`${key} was changed and holds after a restart`, {
        now: configuration.shown(key, configuration.values[key]),
        then: configuration.shown(key, loaded.values[key]),
      });
    }
  } catch (error) {
    logger.error("The configuration was not read again; the old one holds", {
      error,
    });
  }
}
