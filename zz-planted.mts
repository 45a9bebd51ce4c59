import * as f from "#lib/secrets/find";
import * as m from "#lib/secrets/mask";
import {plants} from "/tmp/planted/gen.mts";
console.log(Object.keys(f),Object.keys(m));
for (const k of Object.keys(m)) console.log(k, String((m as any)[k]).slice(0,400));
console.log(f.findSecrets.toString().slice(0,150));
for (const i of [0,1,40,120]) console.log(plants[i].text, plants[i].spans, f.findSecrets(plants[i].text));
