/** The dashboard's page and style: no data, no foreign assets. */

/** `/`. */
export const DASHBOARD_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>PocketMQ</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/dashboard.css">
</head>
<body>
<header>
  <h1>PocketMQ</h1>
  <p id="identity"></p>
  <p id="state" role="status">loading</p>
</header>
<p id="error" role="alert" hidden></p>
<form id="login" hidden>
  <label>Token <input id="token" type="password" autocomplete="off"></label>
  <button>Enter</button>
</form>
<main id="main" hidden>
  <section><h2>Replication</h2><dl id="ha"></dl><table id="slaves"></table></section>
  <section><h2>Store</h2><dl id="store"></dl></section>
  <section><h2>Topics</h2><table id="topics"></table></section>
  <section><h2>Groups</h2><table id="groups"></table></section>
  <section><h2>Clients</h2><table id="clients"></table></section>
</main>
<footer><a href="/openapi.json">API</a> <a href="/metrics">Metrics</a></footer>
<script src="/dashboard.js"></script>
</body>
</html>
`;

/** `/dashboard.css`. */
export const DASHBOARD_STYLE = `:root { color-scheme: light dark; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 0 auto; max-width: 64rem;
  padding: 0 1rem 2rem; }
header { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: baseline; }
h1 { font-size: 1.4rem; margin: 1rem 0; }
h2 { font-size: 1rem; margin: 1.5rem 0 .4rem; border-bottom: 1px solid #8886; }
header p { margin: 0; }
#state { font-weight: 600; padding: .1rem .6rem; border-radius: 1rem;
  background: #8883; }
#state.good { background: #2a7d4633; }
#state.bad { background: #c0392b44; }
#error { background: #c0392b33; padding: .5rem .8rem; border-radius: .3rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1.5rem;
  margin: 0; }
dt { opacity: .75; }
dd { margin: 0; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; display: block; overflow-x: auto; }
th { text-align: left; font-weight: 600; opacity: .75; }
th, td { padding: .15rem 1.2rem .15rem 0; white-space: nowrap;
  font-variant-numeric: tabular-nums; }
footer { margin-top: 2rem; opacity: .8; }
footer a { margin-right: 1rem; }
`;
